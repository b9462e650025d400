import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A database to log in to in vain. */
export interface RefusingDatabase {
  readonly url: string;
  /** What it was given, in order. */
  readonly passwords: string[];
  close(): void;
}

/**
 * A server that speaks enough of PostgreSQL to ask for the password, and repeats it when it refuses
 * the login.
 */
export async function databaseThatRefuses(): Promise<RefusingDatabase> {
  const passwords: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (bytes[0] !== 0x70) return void socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      const password = bytes.toString('utf8', 5, bytes.length - 1);
      passwords.push(password);
      const fields = `SFATAL\0C28P01\0Mpassword ${password} is wrong\0D${password}\0\0`;
      const head = Buffer.alloc(5);
      head.write('E');
      head.writeInt32BE(fields.length + 4, 1);
      return void socket.end(Buffer.concat([head, Buffer.from(fields)]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `postgres://calls@127.0.0.1:${(server.address() as AddressInfo).port}/calls`,
    passwords,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
