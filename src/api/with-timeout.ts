/**
 * Waits for work that has begun.
 * @throws what `tooLate` makes when it takes longer; the work then goes on to its own end, and nobody hears of it
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
