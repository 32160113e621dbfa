export function bundleWorkflows(target: string): Promise<void>;
