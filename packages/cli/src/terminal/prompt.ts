import { Interrupted } from '../errors.ts';
import { type Io, shownText } from '../io.ts';
import { touch, whileWaiting } from './waiting.ts';

/** Whether there is a terminal to ask at. */
export function canAsk(io: Io): boolean {
  return (
    io.stdin.isTTY === true && io.stderr.isTTY === true && typeof io.stdin.setRawMode === 'function'
  );
}

/**
 * Asks for a key at the terminal; what is typed is not shown. Ctrl-C and Ctrl-D end the command.
 */
export async function askHidden(question: string, io: Io): Promise<string> {
  const { stdin, stderr } = io;

  // The echo is off before the question appears, so that nothing typed early is shown.
  stdin.setRawMode?.(true);
  stdin.setEncoding('utf8');
  touch();
  stderr.write(`${question}: `);
  try {
    return await whileWaiting(null, () => typedLine(io));
  } finally {
    stdin.setRawMode?.(false);
    stdin.pause();
    stderr.write('\n');
  }
}

/** Asks at the terminal for what may be seen. An empty line is the value that is offered. */
export async function ask(question: string, offered: string | null, io: Io): Promise<string> {
  const { stdin, stderr } = io;
  stdin.setEncoding('utf8');
  for (;;) {
    touch();
    stderr.write(`${shownText(question)}${offered ? ` [${shownText(offered)}]` : ''}: `);
    try {
      const typed = await whileWaiting(null, () => typedLine(io));
      if (typed !== '' || offered !== null) return typed || (offered ?? '');
    } finally {
      stdin.pause();
    }
  }
}

function typedLine({ stdin, signal }: Io): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed = '';

    const leave = (): void => {
      stdin.off('data', onData);
      stdin.off('end', giveUp);
      signal.removeEventListener('abort', giveUp);
    };

    const giveUp = (): void => {
      leave();
      reject(new Interrupted());
    };

    const onData = (text: string): void => {
      for (const char of text) {
        if (char === '\u0003' || char === '\u0004') {
          giveUp();
          return;
        }
        if (char === '\r' || char === '\n') {
          leave();
          resolve(typed.trim());
          return;
        }
        if (char === '\u007f' || char === '\b') typed = typed.slice(0, -1);
        else if (char >= ' ') typed += char;
      }
    };

    stdin.on('data', onData);
    stdin.on('end', giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    else stdin.resume();
  });
}
