import type { Fix, Problem, ProblemCode } from './problem.ts';

/** Thrown for a text that is not a filter. It carries the first problem, and its fields one by one. */
export class FilterSyntaxError extends Error {
  override readonly name = 'FilterSyntaxError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }

  get code(): ProblemCode {
    return this.problem.code;
  }

  get start(): number {
    return this.problem.start;
  }

  get end(): number {
    return this.problem.end;
  }

  get found(): string {
    return this.problem.found;
  }

  get expected(): readonly string[] {
    return this.problem.expected;
  }

  get suggestions(): readonly string[] {
    return this.problem.suggestions;
  }

  get fix(): Fix | undefined {
    return this.problem.fix;
  }

  get frame(): string {
    return this.problem.frame;
  }
}
