import { Interrupted } from '../errors.ts';
import type { Io } from '../io.ts';

/** Whether somebody is there to be asked. */
export function canAsk(io: Io): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY === true && typeof io.stdin.setRawMode === 'function';
}

/** Asks for a key at the terminal; what is typed is not shown. Ctrl-C and Ctrl-D end the command. */
export async function askHidden(question: string, io: Io): Promise<string> {
  const { stdin, stderr } = io;
  stderr.write(`${question}: `);
  stdin.setRawMode?.(true);
  stdin.setEncoding('utf8');
  stdin.resume();
  try {
    return await new Promise<string>((resolve, reject) => {
      let typed = '';
      const done = (act: () => void): void => {
        stdin.off('data', onData);
        stdin.off('end', onEnd);
        act();
      };
      const onEnd = (): void => done(() => reject(new Interrupted()));
      const onData = (text: string): void => {
        for (const char of text) {
          if (char === '\r' || char === '\n') {
            done(() => resolve(typed.trim()));
            return;
          }
          if (char === '\u0003' || char === '\u0004') {
            done(() => reject(new Interrupted()));
            return;
          }
          if (char === '\u007f' || char === '\b') typed = typed.slice(0, -1);
          else if (char >= ' ') typed += char;
        }
      };
      stdin.on('data', onData);
      stdin.on('end', onEnd);
    });
  } finally {
    stdin.setRawMode?.(false);
    stdin.pause();
    stderr.write('\n');
  }
}
