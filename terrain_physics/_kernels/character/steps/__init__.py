"""Steps of an update: cut from its time, and taken alone or among others."""
