// The attackers of the drill, in a process of their own. Each message "go" is one round with all attacks at once; they keep their
// connections until the next message, "leave".
import { getPriority, setPriority } from 'node:os';
import { badRequests, pipelinedPages, silentConnections, slowReaders, type Target } from './attacks.ts';

// They represent other machines, which take less CPU time from the service than a program on its own.
setPriority(Math.min(19, getPriority() + 5));
const port = Number(process.argv[2]);
const addresses = (first: number) => Array.from({ length: 20 }, (_, i) => `127.0.0.${first + i}`);
const keys = 'access_key: bad_access\r\nsecret_key: bad_secret\r\n';
const target: Target = { port, isSecure: true, from: addresses(10), keys };
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

async function round(): Promise<unknown> {
  const began = performance.now();
  const cpu = process.cpuUsage();
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
  await Promise.race([areConnected, pause(30_000)]);
  const silently = silentConnections(target, 2_000, until);
  const [bad, ...pipelined] = await Promise.all([
    badRequests({ ...target, from: addresses(40) }, 10_000, 60, 500),
    pipelinedPages({ ...target, from: ['127.0.0.30'] }, 600),
    pipelinedPages({ ...target, from: ['127.0.0.31'] }, 600, { leaveAfterMs: 3_000 }),
  ]);
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - began) / 1_000;
  const cpuShare = (user + system) / 1e6 / seconds;
  process.send?.('all were sent');
  await new Promise((leave) => process.once('message', leave));
  end();
  return { seconds, cpuShare, bad, pipelined, silent: await silently, slow: await slowly };
}

process.on('message', (message) => {
  if (message === 'go') void round().then((counts) => process.send?.(counts));
  else if (message === 'end') process.exit(0);
});
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
