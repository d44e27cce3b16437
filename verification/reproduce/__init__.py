"""Published results of the field's own tools, computed again with this library's public calls."""
