/** A prompt that users can pick in their host. */
export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
  }[];
  /** The text of the message. Required arguments are there; others may be missing. */
  write(args: Readonly<Record<string, string>>): string;
}

/** Arguments that most prompts take. */
export const period = [
  { name: 'from', description: 'First day, YYYY-MM-DD', required: true },
  { name: 'to', description: 'Last day, YYYY-MM-DD, included', required: true },
];
