import { serveHttp } from '../../src/index.ts';
import { everything } from './definition.ts';

// Started by scripts/mcp-conformance.mjs, which reads the URL from the first line.
const endpoint = await serveHttp(
  {
    connect: ({ era }) => everything(era),
    status: { ready: () => null, metrics: () => '' },
    log: (line) => void process.stderr.write(`${line}\n`),
  },
  { port: 0, drainTimeout: 100 },
);
process.stdout.write(`${endpoint.url}\n`);
process.stdin.resume().on('end', () => process.exit(0));
