/** The outside world of a command, so that it can be driven in a test. */
export interface CommandIo {
  readonly environment: NodeJS.ProcessEnv;
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Settles at the first signal. Until a command waits for it, a signal just ends the process: batches are whole or absent. */
  stopped(): Promise<void>;
}
