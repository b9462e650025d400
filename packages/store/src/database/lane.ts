/** Runs jobs one after the other, in the order they were handed in; a failed job does not stop the next. */
export function createLane(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const result = last.then(job, job);
    last = result.catch(() => undefined);
    return result;
  };
}
