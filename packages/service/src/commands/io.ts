/** The outside world of a command, so that it can be driven in a test. */
export interface CommandIo {
  readonly environment: NodeJS.ProcessEnv;
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Settles when the command is to end: the first signal. */
  readonly stop: Promise<void>;
}
