"""Land of tiles in saved files."""
