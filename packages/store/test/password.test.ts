import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { openStore } from '../src/index.ts';

/** A message of PostgreSQL that asks to prove the password, with what belongs to the step. */
function asks(step: number, text: string): Buffer {
  const message = Buffer.alloc(9 + text.length);
  message.write('R');
  message.writeInt32BE(8 + text.length, 1);
  message.writeInt32BE(step, 5);
  message.write(text, 9);
  return message;
}

test('a PostgreSQL server that asks for a password where none is set says to set it', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(asks(10, 'SCRAM-SHA-256\0\0'));
      socket.once('data', () => socket.write(asks(11, 'r=a,s=Yg==,i=4096')));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  const known = process.env.PGPASSWORD;
  delete process.env.PGPASSWORD;
  try {
    await expect(openStore(`postgres://calls@127.0.0.1:${port}/calls`)).rejects.toMatchObject({
      kind: 'keys',
      message: expect.stringMatching(/asks for a password, and none is set.* Set PGPASSWORD\.$/),
    });
  } finally {
    if (known !== undefined) process.env.PGPASSWORD = known;
    server.close();
  }
});
