"""What all grounds share."""
