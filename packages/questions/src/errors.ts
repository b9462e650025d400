import { CallsError, type CodeTable, codeTable, nameErrors } from '@call-attribution/core/errors';

const questionErrors = codeTable({
  usage: {
    unknown_name:
      'A field, group, measure or column does not exist, or its name means several. Use one of the names that the message gives.',
    invalid_question:
      'Parts of a question do not go together, a period cannot be read, a limit was passed, or it groups by personal data without saying what to do with it. The message says which, and what can be.',
    invalid_condition:
      'A condition in `where`, `having`, `q` or a measure cannot be read. The error has the `problem` with its place, and a correction when there is one.',
    too_much:
      'The exact answer needs more memory than it may use. Choose a shorter period or fewer groups, or raise `memory`.',
    invalid_state:
      'A saved answer is not one of this package, or of another question. Start again without it.',
  },
});

/** What can be wrong with a question. Codes are stable; messages may be reworded. */
export type QuestionErrorCode = keyof typeof questionErrors;

/** A question cannot be answered. The message says what is wrong, where, and what to do; it never holds data of a caller. */
export class QuestionError extends CallsError<QuestionErrorCode> {
  static override readonly codes: CodeTable = questionErrors;
  static {
    nameErrors(QuestionError, 'QuestionError');
  }

  /** The summary, with the options of a question as they are called where it was asked, such as `--by` for `groupBy`. */
  summaryWith(names: Readonly<Record<string, string>>): string {
    return this.summary.replace(
      /^[a-z]\w*|`(\w+)`|\b(?:groupBy|topPer|inZone|timeZone)\b/g,
      (found, quoted: string | undefined) => names[quoted ?? found] ?? found,
    );
  }
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `QuestionError` of questions. */
    QuestionError: QuestionError & { readonly code: Exclude<QuestionErrorCode, 'invalid_condition'> };
  }
}
