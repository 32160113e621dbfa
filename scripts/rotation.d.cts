export const ROTATING: Readonly<Record<string, readonly string[]>>;
export function leftOut(commitSeconds: number, changedFiles: readonly string[]): string[];
export function leftOutHere(directory: string): string[];
