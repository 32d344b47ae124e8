"""Where people walk and how cameras see them: geometry that knows no probability."""
