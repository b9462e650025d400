import { listenHttp } from '../../src/http/endpoint.ts';
import { everythingServer } from './front.ts';

// Started by scripts/mcp-conformance.mjs, which reads the URL from the first line.
const endpoint = await listenHttp(everythingServer, { port: 0, drainTimeout: 100 });
process.stdout.write(`${endpoint.url}\n`);
process.stdin.resume().on('end', () => process.exit(0));
