import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

/** A connection between a worker and something it needs, which can be cut and restored. */
export interface Link {
  readonly port: number;
  /** Ends all connections, and refuses new ones until `restore`. */
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

/** A URL of the same database that goes through a link, over TCP. */
export async function linkTo(url: string) {
  const link = await openLink({ path: `${new URL(url).searchParams.get('host')}/.s.PGSQL.5432` });
  const linked = new URL(url);
  linked.search = '';
  linked.host = `127.0.0.1:${link.port}`;
  return { link, url: linked.href };
}

/** Forwards a port of this machine to a server. */
async function openLink(to: NetConnectOpts): Promise<Link> {
  const sockets = new Set<Socket>();
  let isCut = false;

  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };

  const server = createServer((near) => {
    keep(near);
    if (isCut) return void near.destroy();
    const far = connect(to);
    keep(far);
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();

  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };

  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut() {
      isCut = true;
      drop();
    },
    restore() {
      isCut = false;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        drop();
      }),
  };
}
