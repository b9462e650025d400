import { connect, createServer, type Socket } from 'node:net';

/** What the proxy does to one statement. */
export type Fault =
  /** The server refuses the statement, and keeps the connection. */
  | '40001'
  | '40P01'
  /** The server ends the connection instead of running the statement. */
  | '25P03'
  | '57P01'
  | '53300'
  /**
   * The connection breaks before the statement reaches the server, or before its response comes
   * back.
   */
  | 'cut before'
  | 'cut after'
  /** Nothing happens any more on the connection. */
  | 'stall';

/** All of them. */
export const faults: readonly Fault[] = [
  '40001',
  '40P01',
  '25P03',
  '57P01',
  '53300',
  'cut before',
  'cut after',
  'stall',
];

/** A PostgreSQL whose connections fail on demand. */
export interface FaultyPostgres {
  /** The URL of the store through the proxy. */
  readonly url: string;
  /** Statements seen since the last `arm`. */
  readonly statements: () => number;
  /** Lets the statement with a number (from 0) meet a fault, or none. Counting starts again. */
  arm(fault: Fault | null, statement?: number): void;
  close(): Promise<void>;
}

/**
 * Starts a proxy before the database of a URL. It reads the messages of the protocol, so it can
 * answer for the server.
 */
export async function startFaultyPostgres(target: string): Promise<FaultyPostgres> {
  const real = new URL(target);
  const folder = real.searchParams.get('host');
  const sockets = new Set<Socket>();
  let armed: { fault: Fault; statement: number } | null = null;
  let seen = 0;
  const server = createServer((client) => {
    const upstream = folder?.startsWith('/')
      ? connect(`${folder}/.s.PGSQL.${real.port || 5432}`)
      : connect(Number(real.port || 5432), real.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }

    let muted = false;
    upstream.on('data', (bytes) => muted || client.write(bytes));
    let waiting = Buffer.alloc(0);
    let isStarted = false;
    let skipped = false;
    let isStalled = false;
    client.on('data', (bytes) => {
      waiting = Buffer.concat([waiting, bytes]);
      while (!isStalled) {
        // The first message has no type.
        const head = isStarted ? 1 : 0;
        if (waiting.length < head + 4) return;
        const length = head + waiting.readUInt32BE(head);
        if (waiting.length < length) return;
        const message = waiting.subarray(0, length);
        waiting = waiting.subarray(length);
        const type = isStarted ? String.fromCharCode(message[0] as number) : '';
        isStarted = true;
        // A statement is a Query, or all from Parse to Sync.
        const fault = type === 'Q' || type === 'P' ? next() : null;
        if (fault === 'cut before') return void client.destroy();
        if (fault === 'stall') isStalled = true;
        else if (fault === 'cut after') {
          muted = true;
          upstream.once('data', () => client.destroy());
          upstream.write(message);
        } else if (fault !== null) {
          const isFatal = fault !== '40001' && fault !== '40P01';
          client.write(errorMessage(fault, isFatal));
          if (isFatal) return void client.end();
          if (type === 'Q') client.write(ready);
          else skipped = true;
        } else if (skipped) {
          if (type === 'S') client.write(ready);
          if (type === 'S') skipped = false;
        } else upstream.write(message);
      }
    });
  });

  const next = (): Fault | null => {
    const at = seen;
    seen += 1;
    return armed !== null && armed.statement === at ? armed.fault : null;
  };

  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address() as { port: number };
  const url = new URL(target);
  url.searchParams.delete('host');
  url.hostname = '127.0.0.1';
  url.port = String(address.port);
  return {
    url: url.href,
    statements: () => seen,
    arm(fault, statement = 0) {
      armed = fault === null ? null : { fault, statement };
      seen = 0;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/** ReadyForQuery, in a transaction that failed. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x45]);

function errorMessage(code: string, isFatal: boolean): Buffer {
  const severity = isFatal ? 'FATAL' : 'ERROR';
  const fields = [`S${severity}`, `V${severity}`, `C${code}`, 'Minjected']
    .map((field) => `${field}\0`)
    .join('');
  const body = Buffer.from(`${fields}\0`);
  const message = Buffer.alloc(5 + body.length);
  message.write('E');
  message.writeUInt32BE(4 + body.length, 1);
  body.copy(message, 5);
  return message;
}
