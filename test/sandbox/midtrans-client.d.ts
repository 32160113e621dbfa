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

  export class SnapBi {
    static qris(): SnapBi;
    static notification(): SnapBi;
    apiPath: string;
    withBody(body: object): SnapBi;
    withSignature(signature: string): SnapBi;
    withTimeStamp(timestamp: string): SnapBi;
    withNotificationPayload(payload: object): SnapBi;
    withNotificationUrlPath(path: string): SnapBi;
    getAccessToken(): Promise<unknown>;
    /** Gets a token, signs the body with the path, and sends it. */
    createConnection(externalId: string): Promise<unknown>;
    isWebhookNotificationVerified(): boolean;
  }

  export const SnapBiConfig: {
    SNAP_BI_SANDBOX_BASE_URL: string;
    snapBiClientId: string;
    snapBiClientSecret: string;
    snapBiPrivateKey: string;
    snapBiPartnerId: string;
    snapBiChannelId: string;
    snapBiPublicKey: string;
  };
}
