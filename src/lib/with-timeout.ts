/**
 * Waits for work that has started.
 * @throws the error of `tooLate` if the work takes longer; the work continues, and its result is ignored
 */
export async function withTimeout<Result>(
  limitMs: number,
  work: Promise<Result>,
  tooLate: () => Error,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(tooLate()), limitMs);
  });
  return Promise.race([work, end]).finally(() => clearTimeout(timer));
}
