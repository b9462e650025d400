import type { Server, Socket } from 'node:net';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import type { Turns } from './turns.ts';

/**
 * Puts the limits between a server and its connections. Returns the connection of a socket that carries HTTP; undefined for a
 * socket in a handshake, on which nothing can be written yet.
 */
export function acceptConnections(
  server: Server,
  connections: Connections,
  turns: Turns,
  isSecure: boolean,
): (stream: object) => Connection | undefined {
  const byStream = new WeakMap<object, Connection>();
  const inHandshake = new Map<string, Connection>();
  const begin = (connection: Connection, stream: Socket): void => {
    connection.stream = stream;
    byStream.set(stream, connection);
    stream.once('end', connection.leave);
  };

  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  const passOn = (socket: Socket): void => {
    for (const listener of listeners) listener.call(server, socket);
  };

  server.on('connection', (socket: Socket) => {
    turns.onAccept();
    const connection = connections.open(socket, isSecure);
    if (connection === null) return;
    if (!isSecure) {
      begin(connection, socket);
      passOn(socket);
      return;
    }
    const name = nameOf(socket);
    inHandshake.set(name, connection);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => inHandshake.delete(name));
    handshakeInTurn(turns, connection, () => {
      connections.startHandshake(connection);
      if (!socket.destroyed) passOn(socket);
    });
  });
  server.prependListener('secureConnection', (stream: Socket) => {
    const connection = inHandshake.get(nameOf(stream));
    if (connection === undefined) {
      stream.destroy();
      return;
    }
    connections.enter(connection, 'idle');
    begin(connection, stream);
  });
  return (stream) => byStream.get(stream);
}

/** A connection that stays silent never costs the memory of a TLS session, and none takes its CPU time out of turn. */
function handshakeInTurn(
  turns: Turns,
  { socket, address: who, gone: signal }: Connection,
  begin: () => void,
): void {
  socket.once('readable', () => {
    if (socket.readableLength === 0) {
      socket.destroy();
      return;
    }
    const leave = turns.enter(who);
    turns
      .run({ who, signal, needs: 'loop' }, begin)
      .catch(() => socket.destroy())
      .finally(leave);
  });
}

/** What tells the connections of one server apart, on the socket below TLS and on the one above. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
