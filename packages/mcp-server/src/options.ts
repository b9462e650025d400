// The options of the server, a line each: `calls mcp` and `call-attribution-mcp` both take them.
// This file imports nothing, so that a program can list them without loading the server.

/**
 * Options of the server, and what they do. `<names>` and `<kinds>` are lists, separated by commas.
 */
export const mcpOptions = {
  '--reveal <kinds>':
    'show what is hidden: caller, name, address, ip, recording, text or all (default: none)',
  '--memory': 'keep the copy of the calls in memory instead of in a file',
  '--check': 'test the credentials, say what works, and end',
  '--http <address>':
    'serve over HTTP on HOST:PORT, or on a port of this machine, instead of stdin and stdout; port 0 picks a free one',
  '--allow-host <names>': 'HTTP: accept these Host headers too; needs a token',
  '--allow-origin <names>': 'HTTP: let pages of these origins use the endpoint',
  '--resource <url>':
    'HTTP: the public URL of the endpoint, which tokens of --authorization-server are issued for',
  '--authorization-server <names>':
    'HTTP: accept tokens that these servers issued for --resource (OAuth)',
} as const;

/** What was chosen of them. */
export type McpChoices = Readonly<
  Partial<
    Record<'memory' | 'check', boolean> &
      Record<'http' | 'resource', string | undefined> &
      Record<'reveal' | 'allowHost' | 'allowOrigin' | 'authorizationServer', readonly string[]>
  >
>;
