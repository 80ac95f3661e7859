"""Cases, scenes and strategies that several tests share."""
