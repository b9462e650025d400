// The bin imports this module before anything else. On stdio, stdout is the wire: one stray line
// from any dependency breaks the connection. From here on, ordinary writes to stdout go to stderr,
// and only `writeOut` reaches the wire.

const wire = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;

/** Writes to the real stdout. */
export function writeOut(text: string): void {
  wire(text);
}

/** Resolves when everything written has been flushed, or can no longer be. */
export function flushOut(): Promise<void> {
  return new Promise((resolve) => {
    wire('', () => resolve());
  });
}
