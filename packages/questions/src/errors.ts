import type { CodeTable, ErrorDetails } from '@call-attribution/core/errors';
import { CallsError, codeTable, nameErrors } from '@call-attribution/core/errors';

const questionErrors = codeTable({
  usage: {
    unknown_name:
      'A field, group, measure or column does not exist, or its name means several. Use one of the names that the message gives.',
    invalid_question:
      'Parts of a question do not go together, a period cannot be read, a limit was passed, or it groups by personal data without `personal`. The message says which, and what can be.',
    invalid_condition:
      'A condition in `where`, `having` or a measure cannot be read. The error has the `problem` with its place, and a correction when there is one.',
    too_much:
      'The exact answer needs more memory than it may use. Choose a shorter period or fewer groups, or raise `memory`.',
  },
});

/** What can be wrong with a question. Codes are stable; messages may be reworded. */
export type QuestionErrorCode = keyof typeof questionErrors;

/**
 * A sentence about options of a question, which each surface calls by names of its own, such as
 * `--by` for `groupBy`.
 */
export type OptionSentence = readonly (string | { readonly option: string })[];

/** An option within a sentence. */
export const option = (name: string): { readonly option: string } => ({ option: name });

/** Makes a sentence of a template whose values are texts and options. */
export const sentence = (
  texts: TemplateStringsArray,
  ...values: readonly (string | number | { readonly option: string })[]
): OptionSentence =>
  texts.flatMap((text, i) => {
    const value = values[i] ?? '';
    return [text, typeof value === 'number' ? String(value) : value];
  });

/**
 * A question cannot be answered. The message says what is wrong, where, and what to do; it never
 * holds data of a caller.
 */
export class QuestionError extends CallsError<QuestionErrorCode> {
  static override readonly codes: CodeTable = questionErrors;
  static {
    nameErrors(QuestionError, 'QuestionError');
  }
  /** What is wrong, without its hint, for a surface whose options have other names. */
  readonly said: OptionSentence;

  constructor(code: QuestionErrorCode, said: string | OptionSentence, details: ErrorDetails = {}) {
    const parts = typeof said === 'string' ? [said] : said.filter((part) => part !== '');
    super(code, parts.map((part, i) => shownPart(part, i === 0)).join(''), details);
    this.said = parts;
  }
}

/** The error of a sentence about a question that cannot be answered. */
export const refuse = (...said: Parameters<typeof sentence>): QuestionError =>
  new QuestionError('invalid_question', sentence(...said));

/**
 * The name of an option as it is in a program: at the beginning of a sentence it is seen without
 * quotes.
 */
function shownPart(part: OptionSentence[number], isFirst: boolean): string {
  if (typeof part === 'string') return part;
  return isFirst ? part.option : `\`${part.option}\``;
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `QuestionError` of questions. */
    QuestionError: QuestionError & {
      readonly code: Exclude<QuestionErrorCode, 'invalid_condition'>;
    };
  }
}
