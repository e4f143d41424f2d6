"""What every HTTP interface shares: request parsing, tokens, and the files beside the database."""
