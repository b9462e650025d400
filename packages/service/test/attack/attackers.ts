// The attackers of the drill, in a process of their own. Each message "go" is one round with all attacks at once.
import { setPriority } from 'node:os';
import { badRequests, pipelinedPages, silentConnections, slowReaders, type Target } from './attacks.ts';

// They represent other machines, which take less CPU time from the service than a program on its own.
setPriority(5);
const port = Number(process.argv[2]);
const from = Array.from({ length: 20 }, (_, i) => `127.0.0.${10 + i}`);
const keys = 'access_key: bad_access\r\nsecret_key: bad_secret\r\n';
const target: Target = { port, isSecure: true, from, keys };

async function round(): Promise<unknown> {
  let end = (): void => undefined;
  const until = new Promise<void>((done) => {
    end = done;
  });
  // The slow readers first, so that they are there for all of the time.
  let connected = (): void => undefined;
  const areConnected = new Promise<void>((done) => {
    connected = done;
  });
  const slowly = slowReaders(target, 500, 4, until, connected);
  await Promise.race([areConnected, new Promise((done) => setTimeout(done, 30_000))]);
  const silently = silentConnections(target, 2_000, until);
  const [bad, ...pipelined] = await Promise.all([
    badRequests(target, 10_000, 60),
    pipelinedPages({ ...target, from: ['127.0.0.30'] }, 600),
    pipelinedPages({ ...target, from: ['127.0.0.31'] }, 600, { leaveAfterMs: 3_000 }),
  ]);
  end();
  return { bad, pipelined, silent: await silently, slow: await slowly };
}

process.on('message', (message) => {
  if (message === 'go') void round().then((counts) => process.send?.(counts));
  else process.exit(0);
});
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
