using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using PlatenClient;

/// <summary>What the tests have the C# client do: `print`, `print-once` or `verify`, told in JSON on standard input.</summary>
static class Drive
{
    static int Main(string[] words)
    {
        var told = Json.Read(new StreamReader(Console.OpenStandardInput(), Encoding.UTF8).ReadToEnd());
        if (words[0] == "print") Print((Dictionary<string, object>)told).GetAwaiter().GetResult();
        else if (words[0] == "print-once") PrintOnce((Dictionary<string, object>)told).GetAwaiter().GetResult();
        else Verify((List<object>)told);
        return 0;
    }

    static async Task Print(Dictionary<string, object> told)
    {
        var client = new Platen((Dictionary<string, object>)told["account"]);
        var request = (Dictionary<string, object>)told["request"];
        Check(Convert.ToInt32((await client.ValidateAsync(request))["labels"]) == 1, "labels");
        var job = await client.PrintAsync(request, "csharp-1");
        Check(await client.PrintAsync(request, "csharp-1") == job, "the same job");
        try
        {
            await client.PrintAsync(new Dictionary<string, object>(request) { ["idT"] = "none" });
            Check(false, "accepted");
        }
        catch (PlatenException error)
        {
            Check(error.Status == 404 && error.Code == "template-not-found" && !error.RetrySafe, error.Code);
            Check(error.IdempotencyKey != null && error.RequestId != null, "key and request ID");
        }
        var ended = await client.WaitForAsync(job, TimeSpan.FromSeconds(30));
        Console.WriteLine(job + " " + ended["status"]);
    }

    static async Task PrintOnce(Dictionary<string, object> told)
    {
        var client = new Platen((Dictionary<string, object>)told["account"], 5, TimeSpan.FromSeconds(1));
        Console.WriteLine(await client.PrintAsync(told["request"], "order-3"));
    }

    static void Verify(List<object> cases)
    {
        foreach (Dictionary<string, object> one in cases)
        {
            var secrets = ((List<object>)one["secrets"]).Cast<string>();
            var headers = ((Dictionary<string, object>)one["headers"]).ToDictionary(header => header.Key, header => (string)header.Value);
            bool verified;
            try
            {
                var told = Platen.Verify(secrets, Encoding.UTF8.GetBytes((string)one["body"]), headers);
                Check((string)told["type"] == "job.held", "type");
                verified = true;
            }
            catch (PlatenException error)
            {
                Check(error.Status == 0 && error.Code == "webhook-unverified", error.Code);
                verified = false;
            }
            Check((bool)one["verified"] == verified, (string)one["what"]);
        }
        Console.WriteLine(cases.Count + " messages");
    }

    static void Check(bool holds, string what)
    {
        if (!holds) throw new InvalidOperationException(what);
    }
}
