// A vitest reporter: one line for each package when all its test files have ended, and one plain
// line at the end of the run, "N passed, N failed, N skipped". Failures are shown by the reporter
// next to it.

/** The package, or the folder, that a test file belongs to. @param {string} file */
const partOf = (file) =>
  /(?:^|\/)(?:packages\/)?([\w.-]+)\/(?:test|tests)\//.exec(file)?.[1] ?? 'other';

/** @typedef {{ files: number, passed: number, failed: number, started: number }} Part */

export default class ClosingLine {
  /** @type {Map<string, Part>} */
  #parts = new Map();

  /** @param {readonly { readonly moduleId: string }[]} specifications */
  onTestRunStart(specifications) {
    this.#parts.clear();
    for (const { moduleId } of specifications) this.#partOf(moduleId).files++;
  }

  /** @param {import('vitest/node').TestModule} module */
  onTestModuleEnd(module) {
    const name = partOf(module.moduleId);
    const part = this.#partOf(module.moduleId);
    const tests = [...module.children.allTests()];
    part.passed += tests.filter((test) => test.result().state === 'passed').length;
    part.failed += tests.filter((test) => test.result().state === 'failed').length;
    if (tests.length === 0 && module.state() === 'failed') part.failed++;
    part.files--;
    if (part.files !== 0) return;
    const seconds = Math.round((Date.now() - part.started) / 1000);
    const failed = part.failed > 0 ? `, ${part.failed} FAILED` : '';
    console.log(`${name.padEnd(14)} ${part.passed} passed${failed}, ${seconds} s after the start`);
  }

  /**
   * @param {readonly import('vitest/node').TestModule[]} modules
   * @param {readonly unknown[]} errors those outside of tests: a setup that failed, a promise that nobody caught
   */
  onTestRunEnd(modules, errors) {
    // No file at all: the shared set-up failed, which vitest reports elsewhere.
    const failed = modules.length === 0 ? Math.max(errors.length, 1) : errors.length;
    const count = { passed: 0, failed, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.state() === 'failed' && [...module.children.allTests()].length === 0)
        count.failed++;
      for (const test of module.children.allTests()) count[test.result().state]++;
    }

    console.log(
      `${count.passed} passed, ${count.failed + count.pending} failed, ${count.skipped} skipped`,
    );
  }

  /** @param {string} file @returns {Part} */
  #partOf(file) {
    const name = partOf(file);
    const part = this.#parts.get(name) ?? { files: 0, passed: 0, failed: 0, started: Date.now() };
    this.#parts.set(name, part);
    return part;
  }
}
