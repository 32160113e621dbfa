/** The part of Midtrans' own Node.js client that the tests use. The package has no types. */
declare module 'midtrans-client' {
  export class CoreApi {
    constructor(options: { isProduction: boolean; serverKey: string; clientKey: string });
    readonly apiConfig: { getCoreApiBaseUrl: () => string };
    readonly transaction: Transaction;
    charge(parameters: object): Promise<unknown>;
  }

  export interface Transaction {
    status(id: string): Promise<unknown>;
    cancel(id: string): Promise<unknown>;
    expire(id: string): Promise<unknown>;
    refund(id: string, parameters: object): Promise<unknown>;
    refundDirect(id: string, parameters: object): Promise<unknown>;
    /** Queries the status of the order that the notification names. */
    notification(notification: string | object): Promise<unknown>;
  }
}
