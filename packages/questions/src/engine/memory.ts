import { QuestionError } from '../errors.ts';

/** Memory that the exact state of questions may take, by default. */
export const usualMemory = 512e6;

/** About how much memory a question takes. */
export class Memory {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  take(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken > this.#most)
      throw new QuestionError(
        'too_much',
        `The exact answer needs more than the ${Math.round(this.#most / 1e6)} MB that it may use. Choose a shorter period or fewer groups, or raise \`memory\`.`,
      );
  }
}
