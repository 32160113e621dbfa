import { Server, ServerCredentials, type handleUnaryCall, type status } from '@grpc/grpc-js';

const METHODS = [
  ...['GetSystemInfo', 'DescribeNamespace', 'RegisterNamespace', 'UpdateNamespace', 'CountWorkflowExecutions'].map(
    (name) => `/temporal.api.workflowservice.v1.WorkflowService/${name}`,
  ),
  ...['ListSearchAttributes', 'AddSearchAttributes'].map(
    (name) => `/temporal.api.operatorservice.v1.OperatorService/${name}`,
  ),
  '/temporal.server.api.adminservice.v1.AdminService/DescribeTaskQueuePartition',
];

const asIs = (bytes: Buffer): Buffer => bytes;

/** Bytes of a message, or the code of an error. */
export type StubResponse = Buffer | status;

/**
 * A gRPC server that responds to the calls of `lunas temporal` as `respond` decides by the name of the method. It
 * records the names.
 */
export async function startTemporalStub(respond: (method: string) => StubResponse) {
  const server = new Server();
  const calls: string[] = [];
  for (const method of METHODS) {
    const name = method.slice(method.lastIndexOf('/') + 1);
    const handle: handleUnaryCall<Buffer, Buffer> = (_, callback) => {
      calls.push(name);
      const response = respond(name);
      if (typeof response === 'number') callback({ code: response, details: 'the stub rejects it' });
      else callback(null, response);
    };
    server.register(method, handle, asIs, asIs, 'unary');
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return { address: `127.0.0.1:${port}`, calls, close: () => server.forceShutdown() };
}
