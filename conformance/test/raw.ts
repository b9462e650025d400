import { connect } from 'node:net';

/** A response as it came over the socket. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body as JSON. */
  json(): unknown;
}

/** One request, written to the socket as given: nothing is encoded, added or followed. */
export async function raw(
  url: string,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<RawResponse> {
  const { method = 'GET', headers = {}, body = '' } = options;
  const { hostname, port } = new URL(url);
  const lines = Object.entries({
    Host: `${hostname}:${port}`,
    Connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  return send(url, `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Writes bytes and reads the one response to them. */
export async function send(url: string, text: string): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  const bytes = await new Promise<Buffer>((done, fail) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    const parts: Buffer[] = [];
    socket.setTimeout(10_000, () => socket.destroy(new Error('No response within 10 s.')));
    socket.on('data', (part) => parts.push(part));
    socket.once('error', fail);
    socket.once('end', () => done(Buffer.concat(parts)));
  });
  const border = bytes.indexOf('\r\n\r\n');
  const [first = '', ...rest] = bytes.subarray(0, border).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    rest.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const payload = bytes.subarray(border + 4);
  const body = (headers['transfer-encoding'] === 'chunked' ? dechunked(payload) : payload).toString(
    'utf8',
  );
  return { status: Number(first.split(' ')[1]), headers, body, json: () => JSON.parse(body) };
}

function dechunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const border = bytes.indexOf('\r\n', at);
    const length = Number.parseInt(bytes.subarray(at, border).toString('latin1'), 16);
    if (!(length > 0)) return Buffer.concat(parts);
    parts.push(bytes.subarray(border + 2, border + 2 + length));
    at = border + 4 + length;
  }
}
