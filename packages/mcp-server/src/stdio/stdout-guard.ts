// Imported before anything else by the bin. On stdio, stdout is the wire: one stray line from any dependency
// breaks the connection. From here on all ordinary writes to stdout go to stderr, and only `writeLine` reaches the wire.

const wire = process.stdout.write.bind(process.stdout);

/** Sends stray writes to stderr from now on. Called once, before other modules load. */
export function guardStdout(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
}

/** Writes to the real stdout. */
export function writeOut(text: string): void {
  wire(text);
}

/** Settles when everything written has left, or cannot leave any more. */
export function flushOut(): Promise<void> {
  return new Promise((resolve) => {
    wire('', () => resolve());
  });
}
