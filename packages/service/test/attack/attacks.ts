// Hostile clients, all on loopback and each bounded in number and time. Used by the fast tests and
// by the drill.
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Where to attack, and from which addresses. */
export interface Target {
  readonly port: number;
  readonly isSecure: boolean;
  /** The addresses of the attackers, used in turn. */
  readonly from: readonly string[];
  /** Key headers of an account that may read. */
  readonly keys: string;
}

/** What came of an attack. */
export interface Outcome {
  /** Responses by status. */
  readonly statuses: Record<string, number>;
  /** Connections that the service closed. */
  closed: number;
  /** Connections that were open at the end. */
  open: number;
}

const outcome = (): Outcome => ({ statuses: {}, closed: 0, open: 0 });
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** One connection, with TLS when the target has it. */
export function openSocket({ port, isSecure, from }: Target, index: number): Socket {
  const localAddress = from[index % from.length] as string;
  const at = { port, host: '127.0.0.1', localAddress };
  const socket = isSecure ? connectTls({ ...at, rejectUnauthorized: false }) : connectPlain(at);
  socket.on('error', () => undefined);
  return socket;
}

/** The request for a page of calls. */
export function pageRequest({ keys }: Target, rows: number): string {
  return `GET /v3/user/bid-management?rows=${rows}&q=inc_gce:1 HTTP/1.1\r\nHost: localhost\r\n${keys}\r\n`;
}

/** Counts the status lines that arrive on a socket. */
export function countStatuses(socket: Socket, statuses: Record<string, number>): void {
  let rest = '';
  socket.on('data', (bytes: Buffer) => {
    const seen = rest + bytes.toString('latin1');
    for (const [, status = ''] of seen.matchAll(/HTTP\/1\.1 (\d{3}) /g))
      statuses[status] = (statuses[status] ?? 0) + 1;
    // The start of a status line may be at the end, but not a whole one.
    rest = seen.slice(-12);
  });
}

/** Connections that send nothing, or only the first bytes of a handshake. */
export async function silentConnections(
  target: Target,
  count: number,
  until: Promise<void>,
): Promise<Outcome> {
  const result = outcome();
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i += 1) {
    const socket = openSocket({ ...target, isSecure: false }, i);
    if (i % 2 === 1) socket.write(Buffer.from([0x16, 0x03, 0x01]));
    socket.once('close', () => (result.closed += 1));
    socket.resume();
    sockets.push(socket);
    if (i % 20 === 19) await pause(40);
  }

  await until;
  result.open = count - result.closed;
  for (const socket of sockets) socket.destroy();
  return result;
}

/** Connections that request large pages with a valid key and do not read the responses. */
export async function slowReaders(
  target: Target,
  count: number,
  pages: number,
  until: Promise<void>,
  onConnected: () => void = () => undefined,
): Promise<Outcome> {
  const result = outcome();
  const sockets: Socket[] = [];
  let connected = 0;
  for (let i = 0; i < count; i += 1) {
    const socket = openSocket(target, i);
    socket.once('close', () => (result.closed += 1));
    socket.once(target.isSecure ? 'secureConnect' : 'connect', () => {
      connected += 1;
      if (connected === count) onConnected();
    });
    socket.pause();
    socket.write(pageRequest(target, 1_000).repeat(pages));
    sockets.push(socket);
    if (i % 50 === 49) await pause(100);
  }

  await until;
  result.open = count - result.closed;
  for (const socket of sockets) socket.destroy();
  return result;
}

/** Requests for pages, all sent ahead on one connection, which is read or abandoned. */
export async function pipelinedPages(
  target: Target,
  count: number,
  { rows = 1_000, leaveAfterMs = Number.POSITIVE_INFINITY } = {},
): Promise<Outcome> {
  const result = outcome();
  const socket = openSocket(target, 0);
  countStatuses(socket, result.statuses);
  socket.write(pageRequest(target, rows).repeat(count));
  const closed = new Promise<void>((done) => {
    socket.once('close', () => done());
    socket.on('data', () => {
      if (Object.values(result.statuses).reduce((sum, n) => sum + n, 0) === count) done();
    });
  });
  if (Number.isFinite(leaveAfterMs)) {
    await pause(leaveAfterMs);
    socket.destroy();
  }

  await Promise.race([closed, pause(60_000)]);
  result.closed = socket.destroyed ? 1 : 0;
  socket.destroy();
  return result;
}

/** Connections that request compressed large pages, read them, and request the next one at once. */
export async function greedyReaders(
  target: Target,
  count: number,
  until: Promise<void>,
): Promise<Outcome> {
  const keys = `${target.keys}accept-encoding: gzip\r\n`;
  return repeated(target, count, pageRequest({ ...target, keys }, 1_000), until);
}

/** Connections that send wrong keys as fast as they are refused. */
export async function wrongKeysOn(
  target: Target,
  count: number,
  until: Promise<void>,
): Promise<Outcome> {
  return repeated(target, count, get(list, wrongKeys), until);
}

/** Connections that send the same request again as soon as its response is there. */
async function repeated(
  target: Target,
  count: number,
  request: string,
  until: Promise<void>,
): Promise<Outcome> {
  const result = outcome();
  const sockets = Array.from({ length: count }, (_, index) => {
    const socket = openSocket(target, index);
    countStatuses(socket, result.statuses);
    socket.on('data', (bytes: Buffer) => {
      // The end of a chunked body, and of a refusal.
      const tail = bytes.subarray(-5).toString('latin1');
      if (tail === '0\r\n\r\n' || tail.endsWith('}')) socket.write(request);
    });
    socket.once('close', () => (result.closed += 1));
    socket.write(request);
    return socket;
  });
  await until;
  result.open = count - result.closed;
  for (const socket of sockets) socket.destroy();
  return result;
}

/**
 * Requests that are wrong in many ways; `lanes` connections send `count` of them, each one after
 * the response before it, and all together at most `perSecond`.
 */
export async function badRequests(
  target: Target,
  count: number,
  lanes: number,
  perSecond = Number.POSITIVE_INFINITY,
): Promise<Outcome> {
  const result = outcome();
  const began = performance.now();
  let sent = 0;

  const lane = async (index: number): Promise<void> => {
    while (sent < count) {
      const socket = openSocket(target, index);
      countStatuses(socket, result.statuses);
      await new Promise<void>((done) => {
        const send = (received?: Buffer): void => {
          if (sent >= count) socket.end();
          else if (!received?.includes('onnection: close')) {
            const bytes = wrong[sent % wrong.length] as string;
            const due = began + (sent / perSecond) * 1_000;
            sent += 1;
            setTimeout(() => socket.write(bytes), Math.max(0, due - performance.now()));
          }
        };

        socket.once(target.isSecure ? 'secureConnect' : 'connect', () => send());
        socket.on('data', send);
        socket.once('close', () => done());
        socket.setTimeout(15_000, () => socket.destroy());
      });
      result.closed += 1;
      // A service that accepts nothing must not keep this busy.
      await pause(5);
    }
  };

  await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
  return result;
}

const get = (path: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
const wrongKeys = 'access_key: wrong\r\nsecret_key: wrong\r\n';
const list = '/v3/user/bid-management';

/** The attackers' favorites. */
export const wrong: readonly string[] = [
  get(list, wrongKeys),
  get(list),
  get('/nothing/here'),
  get(`${list}?rows=0`, wrongKeys),
  get(`${list}?q=%E0%A4%A`, wrongKeys),
  get(list, 'authorization: Basic x\r\n'),
  get('http://other.example/v3/user/bid-management', wrongKeys),
  get(`${list}/%`, wrongKeys),
  `DELETE ${list} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  `GET ${list} HTTP/1.1\r\n\r\n`,
  get('/ibp_api.php?action=sms.get_numbers&access_key=a&secret_access_key=b'),
  get(list, wrongKeys),
  get(`/${'x'.repeat(9_000)}`),
  get(list, 'expect: miracles\r\n'),
  get(list, 'transfer-encoding: chunked\r\n').concat('zz\r\n'),
  get(list, `x: ${'y'.repeat(40_000)}\r\n`),
  'complete nonsense\r\n\r\n',
];
