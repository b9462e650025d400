import { type Fix, type Problem, type ProblemCode, problemCodes } from './problem.ts';

// The errors of all packages have one shape, with `CallsError` of core as their base. This package
// imports nothing, so its errors have the shape and the mark of the family without the base:
// `CallsError.is` and `instanceof CallsError` recognize them.

/** Gives the errors of a class what `CallsError` of core gives to its own. */
function joinFamily(type: { readonly prototype: Error }): void {
  Object.defineProperties(type.prototype, {
    [Symbol.for('@call-attribution/error')]: { value: true },
    kind: { value: 'usage' },
    isRetryable: { value: false },
    summary: {
      get(this: Error) {
        return this.message;
      },
    },
    ownWords: {
      get(this: Error) {
        return this.message;
      },
    },
    toJSON: {
      value(this: FilterArgumentError) {
        const { name, code, kind, message, isRetryable } = this;
        return { name, code, kind, message, isRetryable };
      },
    },
  });
}

/**
 * Thrown for a string that is not a filter. It carries the first problem, and that problem's
 * properties as its own.
 */
export class FilterSyntaxError extends Error implements Problem {
  /** What the codes mean, and what to do. docs/errors.md is generated from it. */
  static readonly codes: typeof problemCodes = problemCodes;
  /** See `Problem`. */
  declare readonly code: ProblemCode;
  /** See `Problem`. */
  declare readonly start: number;
  /** See `Problem`. */
  declare readonly end: number;
  /** See `Problem`. */
  declare readonly found: string;
  /** See `Problem`. */
  declare readonly expected: readonly string[];
  /** See `Problem`. */
  declare readonly suggestions: readonly string[];
  /** See `Problem`. */
  declare readonly fix?: Fix | undefined;
  /** See `Problem`. */
  declare readonly frame: string;
  /** The problem as a plain object. */
  declare readonly problem: Problem;
  /** Always `usage`. */
  declare readonly kind: 'usage';
  /** Always false: the same filter fails again. */
  declare readonly isRetryable: false;
  /** The message. */
  declare readonly summary: string;
  /** The message. */
  declare readonly ownWords: string;
  /** Plain form for structured logs. */
  declare readonly toJSON: () => Record<string, unknown>;

  static {
    joinFamily(FilterSyntaxError);
  }

  /** Makes the error for a problem that `safeParse` found. */
  constructor(problem: Problem) {
    super(problem.message);
    Object.assign(this, problem);
    this.name = 'FilterSyntaxError';
    this.problem = problem;
  }
}

const argumentCodes = {
  invalid_filter_argument: {
    kind: 'usage',
    means:
      'A function got a value that cannot be part of a filter, such as a Date without a time zone.',
    do: 'Pass what the message names.',
  },
} as const;

/** Codes of `FilterArgumentError`. */
export type FilterArgumentErrorCode = keyof typeof argumentCodes;

/** Thrown for an argument that cannot be part of a filter, such as a `Date` without a time zone. */
export class FilterArgumentError extends TypeError {
  /** What the code means, and what to do. docs/errors.md is generated from it. */
  static readonly codes: typeof argumentCodes = argumentCodes;
  /** Always `invalid_filter_argument`. */
  readonly code: FilterArgumentErrorCode;
  /** Always `usage`. */
  declare readonly kind: 'usage';
  /** Always false: the same call fails again. */
  declare readonly isRetryable: false;
  /** The message. */
  declare readonly summary: string;
  /** The message. */
  declare readonly ownWords: string;
  /** Plain form for structured logs. */
  declare readonly toJSON: () => Record<string, unknown>;

  static {
    joinFamily(FilterArgumentError);
  }

  constructor(message: string) {
    super(message);
    this.name = 'FilterArgumentError';
    this.code = 'invalid_filter_argument';
  }
}
