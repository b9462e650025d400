// The attackers of the drill, in a process of their own. Each message "go" is one round with all attacks at once.
import { setPriority } from 'node:os';
import { badRequests, pipelinedPages, silentConnections, slowReaders, type Target } from './attacks.ts';

// They represent other machines, which do not take CPU time from the service.
setPriority(19);
const port = Number(process.argv[2]);
const from = Array.from({ length: 20 }, (_, i) => `127.0.0.${10 + i}`);
const keys = 'access_key: bad_access\r\nsecret_key: bad_secret\r\n';
const target: Target = { port, isSecure: true, from, keys };

async function round(): Promise<unknown> {
  let end = (): void => undefined;
  const until = new Promise<void>((done) => {
    end = done;
  });
  const held = Promise.all([silentConnections(target, 2_000, until), slowReaders(target, 500, 4, until)]);
  const [bad, ...pipelined] = await Promise.all([
    badRequests(target, 10_000, 60),
    pipelinedPages(target, 600),
    pipelinedPages({ ...target, from: from.slice(1) }, 600, { leaveAfterMs: 500 }),
  ]);
  end();
  const [silent, slow] = await held;
  return { bad, pipelined, silent, slow };
}

process.on('message', (message) => {
  if (message === 'go') void round().then((counts) => process.send?.(counts));
  else process.exit(0);
});
process.send?.('ready');
