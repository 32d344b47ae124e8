"""One file per experiment: parse the options, measure what is missing, write the page."""
