module lunas.example/webhook-receiver

go 1.21
