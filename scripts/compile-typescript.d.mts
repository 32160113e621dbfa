export const COMPILED_FOLDER: string;
export function compileTypeScript(): Promise<string>;
