import type { Fix, Problem, ProblemCode } from './problem.ts';

/** Thrown for a text that is not a filter. It carries the first problem, and that problem's fields as its own. */
export class FilterSyntaxError extends Error implements Problem {
  declare readonly code: ProblemCode;
  declare readonly start: number;
  declare readonly end: number;
  declare readonly found: string;
  declare readonly expected: readonly string[];
  declare readonly suggestions: readonly string[];
  declare readonly fix?: Fix | undefined;
  declare readonly frame: string;
  declare readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    // Descriptors and not values: the frame stays undrawn until somebody reads it.
    Object.defineProperties(this, Object.getOwnPropertyDescriptors(problem));
    this.name = 'FilterSyntaxError';
    this.problem = problem;
  }
}
