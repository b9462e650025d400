// MCP server that gives AI assistants right answers from the call-attribution API, at few tokens.
export {};
