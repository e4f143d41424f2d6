"""What every HTTP interface shares: messages, bearer tokens, authentication, limits."""
