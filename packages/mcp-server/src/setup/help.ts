/** What `--help` prints. */
export const help = `call-attribution-mcp: call records for AI assistants, over the Model Context Protocol

Usage
  call-attribution-mcp                     serve on stdin and stdout, as hosts start it
  call-attribution-mcp --http              serve on http://127.0.0.1:3000/mcp
  call-attribution-mcp --check             test the credentials and say what works

Options
  --reveal LIST      show personal data: caller, name, address, ip, recording, text or all (default: none)
  --memory           keep the copy of the calls in memory instead of a file in ~/.local/share/call-attribution
  --account NAMES, --all-accounts
                     answer for accounts of the configuration file: main or main,berlin, or all of them
  --budget N         most tokens in one result, by estimate (default 8000)
  --http             serve over Streamable HTTP
  --port N           port to listen on; 0 picks a free one (default 3000); implies --http
  --host ADDRESS     address to listen on (default 127.0.0.1; others need a token)
  --path PATH        path of the endpoint (default /mcp)
  --allow-host NAME  accept this Host header too; needs a token; may be repeated
  --allow-origin URL let pages of this origin use the endpoint; may be repeated
  --resource URL --authorization-server URL
                     accept tokens that this server issued for the resource, and say so to clients (OAuth)
  --help, --version

Environment
  CALLS_BASE_URL           URL of the API (required)
  CALLS_ACCESS_KEY         access key (v3)
  CALLS_SECRET_KEY         secret key (v3)
  CALLS_BEARER_TOKEN       token to use instead of the keys (required for v2)
  CALLS_..._FILE           file with one of the three above, such as CALLS_SECRET_KEY_FILE
  CALLS_CONFIG             configuration file (default: that of the user, such as ~/.config/call-attribution/calls.config.json)
  CALLS_API_VERSION        v2 or v3 (default v3)
  CALLS_LEGACY_BASE_URL    URL of the SMS number listing
  CALLS_TIME_ZONE          time zone of the account's times; shown to the assistant, no time is converted
  CALLS_TIMEOUT            how long a request may take, such as 3m (default 1m)
  CALLS_LOG                log requests to stderr: debug, info, warn or error; CALLS_LOG_FORMAT=json for JSON lines
  CALLS_MCP_TOKEN          bearer token that HTTP clients must send
`;
