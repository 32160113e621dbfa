// Input and output: see verify.mjs.
import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;

public class Verify {
    public static void main(String[] args) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println(isGenuine(line.split("\t")) ? "genuine" : "forged");
        }
    }

    private static boolean isGenuine(String[] fields) {
        String body = new String(Base64.getDecoder().decode(fields[4]), StandardCharsets.UTF_8);
        Map<String, List<String>> headers = Map.of(
                "webhook-id", List.of(fields[1]),
                "webhook-timestamp", List.of(fields[2]),
                "webhook-signature", List.of(fields[3]));
        try {
            new Webhook(fields[0]).verify(body, headers);
            return true;
        } catch (WebhookVerificationException rejection) {
            return false;
        }
    }
}
