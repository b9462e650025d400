import { hosts } from './print-config.ts';

/** The text of `--help`. */
export const help = `call-attribution-mcp: call records for AI assistants, over the Model Context Protocol

Usage
  call-attribution-mcp                     serve on stdin and stdout, as hosts start it
  call-attribution-mcp --http              serve on http://127.0.0.1:3000/mcp
  call-attribution-mcp --check             try the credentials and say what works
  call-attribution-mcp --print-config NAME show the configuration for ${hosts.join(', ')}

Options
  --reveal LIST      show personal data: caller, name, address, ip, recording, text, or all (default: all masked)
  --budget N         most tokens in one result, by estimate (default 8000)
  --http             serve over Streamable HTTP
  --port N           port, 0 for a free one (default 3000); implies --http
  --host ADDRESS     address to listen on (default 127.0.0.1; any other needs CALLS_MCP_TOKEN)
  --path PATH        path of the endpoint (default /mcp)
  --sessions         keep a session per client, for hosts that need one (default: stateless)
  --allow-host NAME  take this Host header too; may be repeated
  --allow-origin URL take this Origin header too; may be repeated
  --resource URL --authorization-server URL
                     publish OAuth protected-resource metadata
  --help, --version

Environment
  CALLS_BASE_URL           address of the API (required)
  CALLS_ACCESS_KEY         access key (v3)
  CALLS_SECRET_KEY         secret key (v3)
  CALLS_BEARER_TOKEN       token, in place of the keys (required for v2)
  CALLS_API_VERSION        v2 or v3 (default v3)
  CALLS_LEGACY_BASE_URL    address of the SMS number listing
  CALLS_TIME_ZONE          zone the account's times are in; told to the assistant, never applied
  CALLS_MCP_TOKEN          bearer token that HTTP clients must send
  CALLS_MCP_PSEUDONYM_KEY  key of the masks (default: made from the API credentials)
`;
