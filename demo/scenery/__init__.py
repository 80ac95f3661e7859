"""What scenes are made of: ground, bodies, a player, what is asked of them, views on them."""
