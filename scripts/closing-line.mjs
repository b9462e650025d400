// A vitest reporter that ends the run with one plain line: "N passed, N failed, N skipped".
export default class ClosingLine {
  /**
   * @param {readonly import('vitest/node').TestModule[]} modules
   * @param {readonly unknown[]} errors those outside of tests: a setup that failed, a promise that nobody caught
   */
  onTestRunEnd(modules, errors) {
    // No file at all: the shared set-up failed, which vitest reports elsewhere.
    const failed = modules.length === 0 ? Math.max(errors.length, 1) : errors.length;
    const count = { passed: 0, failed, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.state() === 'failed' && [...module.children.allTests()].length === 0) count.failed++;
      for (const test of module.children.allTests()) count[test.result().state]++;
    }
    console.log(`${count.passed} passed, ${count.failed + count.pending} failed, ${count.skipped} skipped`);
  }
}
