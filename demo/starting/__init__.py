"""First starts: other processes compile."""
