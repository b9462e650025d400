import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { Exchange, Reply } from './exchange.ts';

const worthwhile = 1_024;
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const whole = {
  gzip: (body: Buffer) => promisify(gzip)(body, { level: 5 }),
  br: (body: Buffer) => promisify(brotliCompress)(body, brotli),
};
const streamed = { gzip: () => createGzip({ level: 5 }), br: () => createBrotliCompress(brotli) };

type Encoding = keyof typeof whole;

/** A long body is written in parts of this size, each when the client has taken the one before it. */
const partBytes = 65_536;
/** A body up to this size is written at once; of a longer one, as much is written in a turn. */
const turnBytes = 262_144;
/** Long bodies that are compressed at a time, since each takes up to 1 MB for it. Further ones are sent as they are. */
const mostPackers = 32;
let packers = 0;

/**
 * Sends a reply: compressed when the client accepts it, without a body for HEAD, and as fast as the client reads. `hold` learns
 * how many bytes are in memory; what is being written counts twice, since it is there as it is and encrypted.
 */
export async function send(
  response: ServerResponse,
  exchange: Exchange,
  reply: Reply,
  hold: (bytes: number) => void,
): Promise<void> {
  const { status, headers } = reply;
  const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body;
  if (compressible(headers)) headers.vary = 'Accept-Encoding';
  const isWhole = body === null || Buffer.isBuffer(body);
  const mayPack = isWhole || packers < mostPackers;
  const encoding = mayPack ? encodingFor(exchange, headers, body) : null;
  if (encoding !== null) headers['content-encoding'] = encoding;

  if (isWhole) {
    hold(body?.length ?? 0);
    const bytes =
      encoding !== null && body !== null
        ? await exchange.turn(() => whole[encoding](body), 'pool')
        : (body ?? Buffer.alloc(0));
    headers['content-length'] = String(bytes.length);
    response.writeHead(status, headers);
    if (exchange.method === 'HEAD') await end(response, null, exchange.signal);
    else if (bytes.length <= turnBytes) {
      hold(2 * bytes.length);
      await end(response, bytes, exchange.signal);
    } else {
      hold(bytes.length + partBytes);
      await write(response, bytes, exchange);
      await end(response, null, exchange.signal);
    }
    return;
  }
  const { heldBytes = () => 0 } = reply;
  hold(heldBytes());
  response.writeHead(status, headers);
  if (exchange.method !== 'HEAD') {
    for await (const piece of encoding === null ? body : packed(body, encoding, exchange)) {
      hold(heldBytes() + piece.length + Math.min(piece.length, partBytes));
      await write(response, piece, exchange);
      hold(heldBytes());
    }
  }
  await end(response, null, exchange.signal);
}

/** Writes bytes, and resolves when the client has taken them. The first part belongs to the turn in which they were made. */
async function write(response: ServerResponse, bytes: Buffer, { signal, turn }: Exchange): Promise<void> {
  for (let at = 0; at < bytes.length; at += partBytes) {
    if (at > 0 && at % turnBytes === 0) await turn(() => undefined, 'loop');
    const part = bytes.subarray(at, at + partBytes);
    await unlessGone(signal, (done) => response.write(part, done));
  }
}

/** Ends a response with its last bytes, and resolves when the client has taken them. */
function end(response: ServerResponse, bytes: Buffer | null, signal: AbortSignal): Promise<void> {
  return unlessGone(signal, (done) => {
    response.once('close', () => done());
    response.once('finish', () => done());
    if (bytes !== null) response.end(bytes);
    else response.end();
  });
}

function unlessGone(
  signal: AbortSignal,
  begin: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    begin((error) => {
      signal.removeEventListener('abort', leave);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Compresses a long body piece by piece. What has been compressed is sent before more is read. */
async function* packed(
  body: AsyncIterable<Buffer>,
  encoding: Encoding,
  { turn }: Exchange,
): AsyncGenerator<Buffer> {
  const packer = streamed[encoding]();
  packers += 1;
  try {
    let out: Buffer[] = [];
    const taken = (): Buffer => {
      const bytes = Buffer.concat(out);
      out = [];
      return bytes;
    };
    packer.on('data', (bytes: Buffer) => out.push(bytes));
    for await (const piece of body) {
      await turn(
        () =>
          new Promise<void>((done, fail) => packer.write(piece, (error) => (error ? fail(error) : done()))),
        'pool',
      );
      yield taken();
    }
    await new Promise<void>((done, fail) => packer.once('end', done).once('error', fail).end());
    yield taken();
  } finally {
    packers -= 1;
    packer.destroy();
  }
}

function compressible(headers: Readonly<Record<string, string>>): boolean {
  return (
    /json|xml|text|javascript|svg/.test(headers['content-type'] ?? '') &&
    headers['content-encoding'] === undefined
  );
}

function encodingFor(
  exchange: Exchange,
  headers: Readonly<Record<string, string>>,
  body: Reply['body'],
): Encoding | null {
  if (!compressible(headers) || body === null) return null;
  if (Buffer.isBuffer(body) && body.length < worthwhile) return null;
  return acceptedEncoding(exchange.request.headers['accept-encoding']);
}

/** The encoding that the client prefers: br when it accepts br and gzip equally, null for none. */
function acceptedEncoding(header: string | string[] | undefined): Encoding | null {
  let best: { name: Encoding; weight: number } | null = null;
  for (const part of String(header ?? '').split(',')) {
    const [name = '', ...rest] = part.trim().toLowerCase().split(';');
    const weight = Number(/^\s*q=([\d.]+)/.exec(rest.join(';'))?.[1] ?? 1);
    const encoding = name.trim() === 'br' ? 'br' : ['gzip', 'x-gzip'].includes(name.trim()) ? 'gzip' : null;
    if (encoding === null || !(weight > 0)) continue;
    if (best === null || weight > best.weight || (weight === best.weight && encoding === 'br'))
      best = { name: encoding, weight };
  }
  return best?.name ?? null;
}
