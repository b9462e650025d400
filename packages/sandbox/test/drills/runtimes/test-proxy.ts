import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { localhostTls } from '@call-attribution/test-tools/tls';

/** What a proxy does with a request: `ok`, a status, or nothing more. */
export type ProxyMode = 'ok' | 'close' | 'silent' | number;

/** A proxy on loopback that wants the user "me" with the password "p@ss/word". */
export interface TestProxy {
  /** Host and port. */
  readonly host: string;
  mode: ProxyMode;
  /** What it was requested to reach: `CONNECT host:port` or a URL. */
  readonly targets: string[];
  /** Bytes from clients that passed through its tunnels. */
  readonly tunneled: Buffer[];
  close(): void;
}

export const proxyPassword = 'p@ss/word';

/** Starts a proxy for https (CONNECT) and http. */
export async function startTestProxy({ withTls = false } = {}): Promise<TestProxy> {
  const expected = `Basic ${Buffer.from(`me:${proxyPassword}`).toString('base64')}`;
  const sockets = new Set<Duplex>();
  const statusOf = ({ headers }: IncomingMessage, mode: ProxyMode): number =>
    headers['proxy-authorization'] === expected ? Number(mode) || 200 : 407;
  const server: Server = withTls ? createTlsServer(localhostTls) : createServer();
  server.on('connection', (socket) => sockets.add(socket));
  server.on('request', (incoming, response) => {
    proxy.targets.push(String(incoming.url));
    const status = statusOf(incoming, proxy.mode);
    if (status !== 200) return void response.writeHead(status).end();
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    request(String(incoming.url), { method: incoming.method ?? 'GET', headers }, (found) => {
      response.writeHead(found.statusCode ?? 500, found.headers);
      found.pipe(response);
    }).end();
  });
  server.on('connect', (incoming: IncomingMessage, client: Duplex) => {
    proxy.targets.push(`CONNECT ${incoming.url}`);
    client.on('error', () => {});
    const status = statusOf(incoming, proxy.mode);
    if (proxy.mode === 'silent') return;
    if (proxy.mode === 'close') return void client.destroy();
    if (status !== 200)
      return void client.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const far = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.on('data', (chunk) => proxy.tunneled.push(chunk));
      client.pipe(far).pipe(client);
    });
    far.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: TestProxy = {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    mode: 'ok',
    targets: [],
    tunneled: [],
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  return proxy;
}
